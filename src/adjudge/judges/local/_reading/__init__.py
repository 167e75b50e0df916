"""Questions, references and responses as they are compared: words, spellings, facts, clauses."""
