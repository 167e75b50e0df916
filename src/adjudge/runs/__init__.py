"""Runs: rows or cases in, scores and what they amount to out."""

from adjudge.runs._score_file import score_file
from adjudge.runs._summary import Summary, Tally

__all__ = ["Summary", "Tally", "score_file"]
