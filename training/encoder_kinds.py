"""The kinds of rows that the encoders are trained on, and how questions are divided: shared by making and learning."""

FOLDS = 4
KINDS = (
    "real", "mismatch", "other-reference", "alias", "swapped-name", "other-number", "negated", "hedged", "stuffed",
    "echo", "key", "plain", "corrected", "peer", "refusal", "pupil", "blind", "near-name",
    "agent", "contrast", "turned",
)  # fmt: skip
REAL = KINDS.index("real")
AGENT = KINDS.index("agent")
SPAN_SOURCES = ("qamr", "xquad-en", "squad2-dev-half", "agents", "evouna")
"""Where the reader's rows come from."""
