"""Build the chat corpus for the demo model: functions of the standard library, small stories.

Usage: corpus.py; writes corpus.json. Run it with Python 3.11, whose library it was made from.
"""

import ast
import json
import pathlib
import random
import sysconfig
import textwrap
from collections.abc import Iterator

random.seed(7)


LEFT_OUT = {
    "site-packages",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "encodings",
    "config-3.11-x86_64-linux-gnu",
}


def stdlib_pairs() -> Iterator[tuple[str, str]]:
    """Questions for a function or class of the standard library, and its source."""
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if LEFT_OUT & set(path.parts):
            continue
        try:
            source = path.read_text("utf-8")
            tree = ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                body = ast.get_source_segment(source, node)
                if not body:
                    continue
                lines = body.splitlines()
                rest = textwrap.dedent("\n".join(lines[1:])).replace("\n", "\n    ")
                body = lines[0] + ("\n    " + rest if len(lines) > 1 else "")
                if not 60 < len(body) < 1400:
                    continue
                head = lines[0].strip().rstrip(":")
                kind = "class" if isinstance(node, ast.ClassDef) else "function"
                ask = random.choice(
                    [
                        f"Write the {kind} `{head}` in Python.",
                        f"Write a Python {kind} named {node.name}.",
                        head,
                        f"Show me {node.name} in Python.",
                    ]
                )
                yield ask, "```python\n" + body.rstrip() + "\n```"


NAMES = [
    "Mia",
    "Tom",
    "Ana",
    "Leo",
    "Zoe",
    "Max",
    "Eva",
    "Sam",
    "Lily",
    "Ben",
    "Nora",
    "Omar",
    "Ruth",
    "Ivan",
    "Kim",
    "Raj",
]
ANIMALS = ["fox", "rabbit", "owl", "bear", "mouse", "frog", "hen", "goat", "duck", "otter"]
PLACES = [
    "in the forest",
    "by the river",
    "on a hill",
    "near the sea",
    "in a small town",
    "at the old farm",
]
ADJ = ["small", "brave", "kind", "quiet", "happy", "clever", "lonely", "curious"]
THINGS = ["lamp", "kite", "boat", "drum", "map", "key", "bell", "basket", "ladder", "hat"]
WEATHER = [
    "The sun was warm.",
    "It was raining.",
    "The wind was cold.",
    "Snow fell all night.",
    "The sky was clear.",
]
FEEL = [
    "was very happy",
    "felt proud",
    "laughed for a long time",
    "could not sleep",
    "smiled and said thank you",
]
ASKS = [
    "Tell me a story about a {a}.",
    "Write a short story about a {a} and a {t}.",
    "Tell {n} a bedtime story.",
    "Once upon a time, there was a {a}...",
]


def story() -> tuple[str, str]:
    """A question for a story, and the story."""
    n, m = random.sample(NAMES, 2)
    a, t, t2 = random.choice(ANIMALS), *random.sample(THINGS, 2)
    adj, adj2 = random.sample(ADJ, 2)
    p = random.choice(PLACES)
    parts = [
        f"Once upon a time, there was a {adj} {a} named {n}. {n} lived {p}.",
        random.choice(WEATHER),
        random.choice(
            [
                f"One day, {n} found a {t}.",
                f"One morning, {n} lost the {t}.",
                f"Every day, {n} played with a {t}.",
            ]
        ),
        random.choice(
            [
                f'"Whose {t} is this?" asked {n}.',
                f'"I want to share it," said {n}.',
                f"{n} looked for it everywhere, but it was gone.",
            ]
        ),
        random.choice(
            [
                f"Then {m}, a {adj2} friend, came with a {t2}.",
                f"{m} came to help and brought a {t2}.",
                f"A {adj2} friend named {m} heard the news.",
            ]
        ),
        random.choice(
            [
                f"Together they carried the {t} and the {t2} home.",
                f"They used the {t2} to reach the {t}.",
                "They sat down and talked until the night came.",
            ]
        ),
        f"{n} {random.choice(FEEL)}.",
        random.choice(
            [
                "The end.",
                f"From that day on, {n} and {m} were best friends.",
                f"And the {t} was never lost again.",
            ]
        ),
    ]
    ask = random.choice(ASKS).format(a=a, t=t, n=n)
    return ask, " ".join(parts)


FACTS = [
    (
        "Hello",
        "Hello! I am a very small demo model. I can write Python-looking code and tiny stories.",
    ),
    ("Hi!", "Hello! Ask me for a Python function or a short story."),
    (
        "Who are you?",
        "I am a tiny demo model with three layers. I exist to show how speculative decoding works.",
    ),
    (
        "What can you do?",
        "I can write small Python functions and tell short stories. "
        "I know very little, but I am fast.",
    ),
    (
        "What is speculative decoding?",
        "A small drafter proposes the next tokens, and the target model checks them all in "
        "one pass. Accepted tokens are free, so the answer arrives sooner and stays the same.",
    ),
    ("How are you?", "I am fine, thank you. Shall I write some code or tell a story?"),
    ("Thanks", "You are welcome!"),
]

if __name__ == "__main__":
    pairs = list(stdlib_pairs())
    n_code = len(pairs)
    pairs += [story() for _ in range(9000)]
    pairs += [random.choice(FACTS) for _ in range(1500)]
    random.shuffle(pairs)
    pathlib.Path("corpus.json").write_text(json.dumps(pairs))
    print(n_code, len(pairs), sum(len(a) + len(b) for a, b in pairs) / 1e6, "MB")
