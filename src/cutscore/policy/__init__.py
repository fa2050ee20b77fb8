"""The decision as an artefact: aim, cut, calibrator, and the evidence of the choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.core.lazy import attributes

if TYPE_CHECKING:
    from cutscore.policy.artefact import Cuts as Cuts
    from cutscore.policy.artefact import Labels as Labels
    from cutscore.policy.artefact import Policy as Policy
    from cutscore.policy.artefact import Provenance as Provenance
    from cutscore.policy.check import PolicyCheck as PolicyCheck
    from cutscore.policy.evidence import Evidence as Evidence

_HOME = {
    "Cuts": "artefact",
    "Evidence": "evidence",
    "Labels": "artefact",
    "Policy": "artefact",
    "PolicyCheck": "check",
    "Provenance": "artefact",
}

__all__ = ["Cuts", "Evidence", "Labels", "Policy", "PolicyCheck", "Provenance"]

__getattr__ = attributes(__name__, _HOME)
