"""What one launch of an engine runs."""

from dataclasses import dataclass, field
from pathlib import Path

from slipstream.drafters.kinds import PLAIN, SpecConfig
from slipstream.planning.parts import Setup


@dataclass(frozen=True)
class LaunchConfig:
    """Everything that is fixed for the life of one engine process.

    Attributes:
        model: the target's file (the first shard of a set).
        context: tokens that prompt and reply share.
        spec: how it speculates.
        slots: parallel requests; 1, because every slot multiplies rollback memory.
        threads: CPU threads; None leaves it to the engine.
        gpu_layers: layers on the GPU; None lets the engine fit them.
        devices: device ids in the engine's own names; empty lets the engine choose.
        kv_type: element type of the target's KV cache.
        batch, micro_batch: tokens per logical and physical batch; None is the engine's default.
        flash_attention: "auto", "on" or "off".
        prompt_cache: bytes of main memory for prompts of earlier chats; None: engine's default.
        projector: file that lets the model read images.
        chat_template: Jinja text that replaces the model's own template.
        reasoning: "auto", "on" or "off": whether the template asks the model to think.
        extra: further arguments as an expert typed them (``extra.py``).
    """

    model: Path
    context: int
    spec: SpecConfig = PLAIN
    slots: int = 1
    threads: int | None = None
    gpu_layers: int | None = None
    devices: tuple[str, ...] = field(default=())
    kv_type: str = "f16"
    batch: int | None = None
    micro_batch: int | None = None
    flash_attention: str = "auto"
    prompt_cache: int | None = None
    projector: Path | None = None
    chat_template: str | None = None
    reasoning: str = "auto"
    extra: str = ""

    @property
    def setup(self) -> Setup:
        """What planning has to know of it."""
        return Setup(
            context=self.context,
            spec=self.spec,
            slots=self.slots,
            kv_type=self.kv_type,
            batch=self.batch or Setup.batch,
            micro_batch=self.micro_batch or Setup.micro_batch,
        )
