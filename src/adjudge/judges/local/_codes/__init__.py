"""Answers in which every character counts: letters, codes, formulas, substances."""
