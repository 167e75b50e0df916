"""Rows in and out: JSON lines, CSV and Parquet read in chunks, JSON lines written whole."""

from adjudge.datasets._read import FORMATS, Chunk, Format, RowRead, format_of, read_chunks, read_rows
from adjudge.datasets._repeats import Repeat, RepeatFinder, sort_ids
from adjudge.datasets._write import json_line, whole_file

__all__ = [
    "FORMATS",
    "Chunk",
    "Format",
    "Repeat",
    "RepeatFinder",
    "RowRead",
    "format_of",
    "json_line",
    "read_chunks",
    "read_rows",
    "sort_ids",
    "whole_file",
]
