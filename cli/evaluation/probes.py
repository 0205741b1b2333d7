"""Queries that notes of developers rarely answer, each with words that would belie it.

Owns the texts. A probe is used only where no note holds any of its words.
"""

from __future__ import annotations

from dataclasses import dataclass

ON_TOPIC = "none_on_topic"
OFF_TOPIC = "none_off_topic"


@dataclass(frozen=True, slots=True)
class Probe:
    """A query without an answer; ``words`` are matched without regard to case."""

    text: str
    group: str
    words: tuple[str, ...]
    is_chinese: bool = False


PROBES = (
    Probe("BGP route reflector keeps flapping after the maintenance window", ON_TOPIC,
          ("bgp", "reflector")),
    Probe("port a COBOL batch job to a managed service", ON_TOPIC, ("cobol",)),
    Probe("calibrate the PID loop of a quadcopter's flight controller", ON_TOPIC,
          ("quadcopter", "flight controller")),
    Probe("tune the voxel size of a LIDAR point cloud", ON_TOPIC, ("lidar", "voxel")),
    Probe("Erlang supervisor restarts its children in the wrong order", ON_TOPIC, ("erlang",)),
    Probe("write an HLSL shader for wet asphalt", ON_TOPIC, ("hlsl", "shader")),
    Probe("SAP ABAP report times out on the warehouse table", ON_TOPIC, ("abap",)),
    Probe("set up a Fabric channel between two blockchain peers", ON_TOPIC, ("blockchain",)),
    Probe("蓝牙低功耗设备配对后马上断开", ON_TOPIC, ("蓝牙", "bluetooth"), True),
    Probe("FPGA 时序约束不收敛怎么办", ON_TOPIC, ("fpga", "时序约束"), True),
    Probe("无人机飞控的姿态解算漂移", ON_TOPIC, ("无人机", "飞控"), True),
    Probe("区块链节点之间如何同步账本", ON_TOPIC, ("区块链", "账本"), True),
    Probe("激光雷达点云的降采样参数", ON_TOPIC, ("激光雷达", "点云"), True),
    Probe("how long to let sourdough rise in a cold kitchen", OFF_TOPIC, ("sourdough", "dough")),
    Probe("when to prune apple trees", OFF_TOPIC, ("prune apple", "apple tree")),
    Probe("the causes of the fall of Constantinople", OFF_TOPIC, ("constantinople",)),
    Probe("knitting pattern for a child's mittens", OFF_TOPIC, ("knitting", "mitten")),
    Probe("best season to see whales off Iceland", OFF_TOPIC, ("whale", "iceland")),
    Probe("how to remove red wine from a carpet", OFF_TOPIC, ("red wine", "carpet")),
    Probe("红烧肉怎样做才不腻", OFF_TOPIC, ("红烧肉",), True),
    Probe("阳台上种番茄多久浇一次水", OFF_TOPIC, ("番茄", "浇水"), True),
    Probe("孩子晚上总是不肯睡觉", OFF_TOPIC, ("睡觉",), True),
    Probe("去云南旅行几月份合适", OFF_TOPIC, ("云南", "旅行"), True),
    Probe("宋代瓷器的釉色有哪些", OFF_TOPIC, ("瓷器", "釉"), True),
)  # fmt: skip
