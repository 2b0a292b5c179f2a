"""Who may see a repository of the test Hub, and what is answered to the others."""

from collections.abc import Mapping

from hub_server.answers import Call, Refused, moved, refusal
from hub_server.repos import HubFile, Repo


def user_of(tokens: Mapping[str, str], call: Call) -> str | None:
    """Whose token was sent; None without one.

    Raises: Refused: a token that is not valid.
    """
    kind, _, token = call.headers.get("authorization", "").partition(" ")
    if not kind:
        return None
    if kind.lower() != "bearer" or token not in tokens:
        raise refusal(401, "Invalid credentials in Authorization header")
    return tokens[token]


def find_repo(repos: Mapping[str, Repo], call: Call, name: str, user: str | None) -> Repo:
    """The repository of this name that the user may know of.

    Raises: Refused: missing, hidden, disabled, renamed or spelled otherwise.
    """
    repo = repos.get(name)
    if repo is None:
        spelled = {known.lower(): known for known in repos}.get(name.lower())
        if spelled and knows(repos[spelled], user):
            raise Refused(moved(call.target.replace(name, spelled, 1)))
        raise _not_found(user)
    if not knows(repo, user):
        raise _not_found(user)
    if repo.renamed_to:
        raise Refused(moved(call.target.replace(name, repo.renamed_to, 1)))
    if repo.disabled:
        raise refusal(403, "Access to this resource is disabled.")
    return repo


def knows(repo: Repo, user: str | None) -> bool:
    """Whether the user may know that it exists."""
    return not repo.private or user == repo.author or user in repo.allowed


def check_readable(repo: Repo, user: str | None) -> None:
    """Refuse people who have not accepted the conditions of a gated repository."""
    if not repo.gated or user == repo.author or user in repo.allowed:
        return
    about = f"Access to model {repo.id} is restricted"
    if user is None:
        message = (
            f"{about}. You must have access to it and be authenticated to access it. Please log in."
        )
        raise refusal(401, message, "GatedRepo")
    message = f"{about} and you are not in the authorized list. Visit its page to ask for access."
    raise refusal(403, message, "GatedRepo")


def files_at(repo: Repo, revision: str) -> tuple[str, tuple[HubFile, ...]]:
    """The commit that a revision means, and its files.

    Raises: Refused: there is no such revision.
    """
    files = repo.tree(revision)
    if files is None:
        raise refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    return (revision if len(revision) == 40 else repo.commit), files


def _not_found(user: str | None) -> Refused:
    if user is None:
        return refusal(401, "Invalid username or password.", "RepoNotFound")
    return refusal(404, "Repository not found", "RepoNotFound")
