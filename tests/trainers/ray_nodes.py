"""A cluster of three nodes on this machine, one of which is killed in the middle of a judged run; prints how it ended.

Called as `ray_nodes.py ROWS BASE_URL RUN`.
"""

import json
import sys
from threading import Thread

import ray
from ray.cluster_utils import Cluster

from adjudge.integrations.ray import RayFleet
from adjudge.runs import Progress, RunConfig, judge_file


def main(rows: str, base_url: str, run: str) -> None:
    """Judge, and lose a node."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = {node.node_id: node for node in (cluster.add_node(num_cpus=1) for _ in range(2))}
    ray.init(address=cluster.address, log_to_driver=False)
    fleet = RayFleet(2)
    killing: list[Thread] = []

    def watch(progress: Progress) -> None:
        if progress.done > 60 and not killing:
            # One on which somebody works: two actors on three nodes are not both on the head.
            victim = next(nodes[name] for name in fleet._nodes.values() if name in nodes)
            killing.append(Thread(target=lambda: cluster.remove_node(victim, allow_graceful=False)))
            killing[0].start()

    config, options = RunConfig(cache="off", workers=8), {"base_url": base_url}
    done = judge_file(rows, "openai:m", options=options, config=config, run=run, fleet=fleet, watch=watch)
    assert done.summary is not None
    counts = dict(done.summary.tallies[0].counts)
    print(json.dumps({"counts": counts, "undecided": done.undecided, "killed": len(killing)}))  # noqa: T201
    killing[0].join()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
