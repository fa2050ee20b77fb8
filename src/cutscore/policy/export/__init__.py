"""Export of policies: SQL, Python, ONNX and a model card."""

from __future__ import annotations

from cutscore.policy.export.card import to_card
from cutscore.policy.export.onnx import to_onnx
from cutscore.policy.export.python import to_python
from cutscore.policy.export.sql import to_sql

__all__ = ["to_card", "to_onnx", "to_python", "to_sql"]
