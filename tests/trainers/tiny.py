"""A model, a tokenizer and rows that are made on the spot: enough to take a step, nothing to download."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from adjudge.environments import EnvBadTask, EnvDied, EnvSpec
from adjudge.model import Outcome, Step

SPECIAL = ["<pad>", "<|im_end|>", "<|im_start|>"]
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] or '' }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(template: str = CHAT) -> Any:
    """Return a tokenizer of single bytes, with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({piece: index for index, piece in enumerate([*SPECIAL, *letters])}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        additional_special_tokens=SPECIAL[2:],
        padding_side="left",
    )
    fast.chat_template = template
    return fast


def model(folder: Path) -> str:
    """Write a random model of a few thousand weights, and return where it is."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(7)
    size = Qwen2Config(
        vocab_size=len(SPECIAL) + 256, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=4096, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    Qwen2ForCausalLM(size).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return str(folder)


class Corridor:
    """A world of one's own: walk east; a jump ends in a pit."""

    def reset(self, length: int) -> str:
        """Begin at the start."""
        if not isinstance(length, int):
            raise EnvBadTask(f"a corridor has a length, not {length!r}")
        self.length, self.place = length, 0
        return f"A corridor of {length} steps."

    def step(self, action: str) -> Step:
        """Walk, or die."""
        if action == "jump":
            raise EnvDied("fell into a pit")
        self.place += action == "east"
        return Step(f"Step {self.place}.", done=self.place >= self.length)

    def outcome(self) -> Outcome:
        """Return the share of the way."""
        return Outcome(reward=self.place / self.length)

    def close(self) -> None:
        """Leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MortalSpec(EnvSpec):
    """The spec of that world."""

    kind: ClassVar[str] = "corridor"

    def build(self) -> Corridor:
        """Make a corridor."""
        return Corridor()
