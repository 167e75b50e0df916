"""Verbs whose past is not made by an ending."""

from __future__ import annotations

PASTS = dict(
    pair.split()
    for pair in (
        "agreed agree", "ate eat", "became become", "began begin", "begun begin", "bought buy", "broke break",
        "brought bring", "built build", "came come", "caught catch", "died die", "drank drink", "drew draw",
        "drove drive", "felt feel", "fought fight", "found find", "flew fly", "gave give", "held hold",
        "kept keep", "knew know", "led lead", "left leave", "made make", "met meet", "paid pay", "ran run",
        "said say", "sang sing", "sank sink", "saw see", "seen see", "sent send", "shot shoot", "slept sleep",
        "sold sell", "spent spend", "spoke speak", "stole steal", "stood stand", "taught teach", "thought think",
        "fell fall", "grew grow", "lost lose", "rose rise", "shrank shrink", "went go", "won win",
        "told tell", "took take", "wore wear", "written write", "wrote write",
    )
)  # fmt: skip
"""From the past to the verb."""
