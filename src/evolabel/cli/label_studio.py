"""`evolabel label-studio`: the machine-learning backend of Label Studio, in front of a labelling service."""

from evolabel._utils.optional import load
from evolabel.errors import ParameterError

_PACKAGES = ("starlette", "pydantic", "uvicorn", "httpx")


def label_studio(service: str = "http://127.0.0.1:8080", *, host: str = "127.0.0.1", port: int = 9090) -> None:
    """Connect Label Studio with a labelling service, until the command is interrupted.

    In Label Studio, connect http://127.0.0.1:9090/PROJECT with a token of the role bridge as the password.

    For example:

    `evolabel label-studio http://127.0.0.1:8080`

    Parameters
    ----------
    service
        Address of the service.
    host
        Address to listen on. Others than this machine's own need a proxy that adds TLS.
    port
        Port to listen on.
    """
    for package in _PACKAGES:
        load(package, "label-studio", "the bridge to Label Studio")
    if not service.startswith(("http://", "https://")):
        raise ParameterError(f"{service!r} is no address of a service; write one such as http://127.0.0.1:8080")
    import uvicorn

    from evolabel.label_studio import make_bridge

    uvicorn.run(make_bridge(service), host=host, port=port, access_log=False, server_header=False)
