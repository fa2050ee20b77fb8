from cutscore.policy.artefact import Policy as Policy
from cutscore.policy.check import PolicyCheck as PolicyCheck
from cutscore.policy.evidence import Evidence as Evidence
from cutscore.policy.groups import Groups as Groups
from cutscore.policy.parts import Cuts as Cuts
from cutscore.policy.parts import Labels as Labels
from cutscore.policy.parts import Provenance as Provenance

__all__: list[str]
