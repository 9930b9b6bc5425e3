"""Two steps of TRL's GRPOTrainer with the format reward, on a tiny random model; run by hand, not by pytest.

    python -m venv trl && trl/bin/pip install . torch==2.13.0 trl transformers
    trl/bin/python tests/integration/trl_grpo.py

Nothing is downloaded: model and tokenizer are made here, the tokens are the bytes. A random model writes nothing that
parses, so a second reward scores every other completion as if it were a good response; without it all rewards would be
0, and nothing would be learned from.
"""

import json
import tempfile
from functools import partial
from typing import Any

import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from gategrammar.reward import trl_format_reward

GOOD = "a</think>\n<check>yes</check>\n<update>b</update>\n<next>end</next>"
TEMPLATE = """{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}
{% endfor %}{% if add_generation_prompt %}assistant: <think>{% endif %}"""
STEPS, COMPLETIONS = 2, 4


def bytes_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are the 256 bytes."""
    tokens = ["<pad>", "<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    model = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=[]))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=model, chat_template=TEMPLATE)
    tokenizer.add_special_tokens({"pad_token": tokens[0], "eos_token": tokens[1]})
    return tokenizer


def half_good(completions: list[Any], **_: Any) -> list[float]:
    """Score every other completion as if the model had written a good response."""
    good = GOOD if isinstance(completions[0], str) else [{"role": "assistant", "content": GOOD}]
    written = [completion if number % 2 else good for number, completion in enumerate(completions)]
    return trl_format_reward(written, think="prefilled")


def train(prompt: Any, folder: str) -> None:
    """Train, and check what the trainer got and logged."""
    torch.manual_seed(0)
    tokenizer = bytes_tokenizer()
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    trainer = trl.GRPOTrainer(
        model=Qwen2ForCausalLM(config),
        reward_funcs=[partial(trl_format_reward, think="prefilled"), half_good],
        args=trl.GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            max_steps=STEPS,
            per_device_train_batch_size=COMPLETIONS,
            num_generations=COMPLETIONS,
            max_completion_length=16,
            logging_steps=1,
            log_completions=True,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_dict({"prompt": [prompt] * 8, "answer": ["x"] * 8}),
        processing_class=tokenizer,
    )
    before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
    trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == STEPS, steps
    for step in steps:
        print(json.dumps({name: step[name] for name in step if name.startswith(("reward", "gate/"))}))
        assert (step["rewards/trl_format_reward/mean"], step["rewards/half_good/mean"]) == (0.0, 0.5)
        assert step["gate/unclosed"] + step["gate/missing"] + step["gate/bad_value"] == 1.0
    columns = {name: list(values) for name, values in trainer._logs["extra"].items()}
    print(columns)
    assert {name: len(values) for name, values in columns.items()} == dict.fromkeys(("gate_kind", "gate_tag"), 4)
    assert any((old != new).any() for old, new in zip(before, trainer.model.parameters(), strict=True))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for prompt in ("Read on: <think>", [{"role": "user", "content": "Read on"}]):
            train(prompt, folder)
    print(
        f"trl {trl.__version__}, torch {torch.__version__}: {STEPS} steps on text, {STEPS} on conversations, all right"
    )
