"""A Hub for tests: a real HTTP server that huggingface_hub itself is happy with.

::

    with HubServer(Repo("owner/name", [HubFile("model-Q8_0.gguf", Path("model.gguf"))])) as hub:
        HF_ENDPOINT = hub.endpoint  # resolve answers with links to hub.cdn, another host
        hub.faults.api += [429, 503]  # what the next two API requests are answered
        hub.sending.cut_after = 1_000_000  # how bodies are sent, all of them
        hub.repos["owner/name"].files[0].sending.rate = 50_000  # or those of one file
        hub.asked("resolve")  # what was asked, with headers and bytes sent

Everything may be changed while it runs. ``python -m hub_server`` starts it by hand.
"""

from hub_server.contents import Content, Made
from hub_server.faults import Faults, Sending
from hub_server.log import Request
from hub_server.repos import GgufFacts, HubFile, Repo
from hub_server.server import TOKEN, USER, HubServer

__all__ = [
    "TOKEN",
    "USER",
    "Content",
    "Faults",
    "GgufFacts",
    "HubFile",
    "HubServer",
    "Made",
    "Repo",
    "Request",
    "Sending",
]
