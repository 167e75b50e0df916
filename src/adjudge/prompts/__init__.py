"""Judge prompts: versioned files, fields encoded so that none can leave its place, replies read strictly.

prompt = load_prompt("evaluation/verdict/v1")
messages = prompt.messages({"question": q, "references": refs, "response": r}, form="schema")
parse_verdict(reply)                        exactly one verdict, or `UnreadableReply`
"""

from adjudge.prompts._encode import decode_field, decode_list, encode_field, encode_list
from adjudge.prompts._library import load_prompt
from adjudge.prompts._nonce import nonce_of
from adjudge.prompts._reply import UnreadableReply
from adjudge.prompts._rubric import RubricReading, parse_rubric, rubric_schema
from adjudge.prompts._template import Fields, Form, Prompt
from adjudge.prompts._verdict import (
    VERDICT_SCHEMA,
    Verdict,
    VerdictReading,
    parse_result_line,
    parse_verdict,
)

__all__ = [
    "VERDICT_SCHEMA",
    "Fields",
    "Form",
    "Prompt",
    "RubricReading",
    "UnreadableReply",
    "Verdict",
    "VerdictReading",
    "decode_field",
    "decode_list",
    "encode_field",
    "encode_list",
    "load_prompt",
    "nonce_of",
    "parse_result_line",
    "parse_rubric",
    "parse_verdict",
    "rubric_schema",
]
