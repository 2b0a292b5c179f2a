"""What macOS says about itself."""

import subprocess


def sysctl(*arguments: str) -> str:
    """What the system's own program prints; "" for a value that this system does not have.

    Raises: OSError, subprocess.TimeoutExpired.
    """
    command = ["/usr/sbin/sysctl", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=2)
    return answer.stdout.strip()
