from cutscore.policy.artefact import Cuts as Cuts
from cutscore.policy.artefact import Labels as Labels
from cutscore.policy.artefact import Policy as Policy
from cutscore.policy.artefact import Provenance as Provenance
from cutscore.policy.check import PolicyCheck as PolicyCheck
from cutscore.policy.evidence import Evidence as Evidence
from cutscore.policy.groups import Groups as Groups

__all__: list[str]
