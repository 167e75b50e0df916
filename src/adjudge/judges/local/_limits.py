"""How much of a row rules look at: each bound has one meaning, and stands here."""

LONGEST = 20_000
"""Characters of a text that are looked at: what comes later decides nothing."""

PART = 4000
"""Characters of a response in which names, lists and other forms are looked for."""

REFERENCES = 50
"""References that one rule looks at; some questions have hundreds."""

LEAST = 6
"""Words up to which a response is its answer: what it mentions is not told from it."""

NAME = 8
"""Words of a response that is a name or a number and nothing else."""

STATEMENT = 15
"""Words of a response that says one thing."""

SHORT = 20
"""Words of a response that gives an answer and says little else."""

PASSAGE = 40
"""Words of a response that says a thing or two: what is said of the answer can be read."""
