"""Clients of the labelling service: samples, predictions, questions, answers and projects over HTTP.

They need httpx: `pip install "evolabel[client]"`. Nothing of evolabel is imported that needs another package.
"""

from evolabel.client.async_client import AsyncClient
from evolabel.client.connection import ConnectionLostError, Retry, ServiceError
from evolabel.client.results import (
    AnswerReceipt,
    ModelRule,
    OfferedQuestion,
    ProjectEvent,
    ProjectStatus,
    SamplePrediction,
    SampleResult,
    StoredSample,
    WaitingQuestion,
)
from evolabel.client.sync_client import Client

__all__ = [
    "AnswerReceipt",
    "AsyncClient",
    "Client",
    "ConnectionLostError",
    "ModelRule",
    "OfferedQuestion",
    "ProjectEvent",
    "ProjectStatus",
    "Retry",
    "SamplePrediction",
    "SampleResult",
    "ServiceError",
    "StoredSample",
    "WaitingQuestion",
]
