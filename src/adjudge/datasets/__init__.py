"""Rows in and out: JSON lines, CSV and Parquet read in chunks, JSON lines written whole; conversations with images."""

from adjudge.datasets._conversations import ConversationRead, Conversations, read_conversations
from adjudge.datasets._image import RowImage
from adjudge.datasets._labels import LABELS, Vocabulary, vocabularies_of
from adjudge.datasets._read import FORMATS, Chunk, Format, RowRead, format_of, read_chunks, read_rows
from adjudge.datasets._repeats import Repeat, RepeatFinder, sort_ids
from adjudge.datasets._write import json_line, whole_file

__all__ = [
    "FORMATS",
    "LABELS",
    "Chunk",
    "ConversationRead",
    "Conversations",
    "Format",
    "Repeat",
    "RepeatFinder",
    "RowImage",
    "RowRead",
    "Vocabulary",
    "format_of",
    "json_line",
    "read_chunks",
    "read_conversations",
    "read_rows",
    "sort_ids",
    "vocabularies_of",
    "whole_file",
]
