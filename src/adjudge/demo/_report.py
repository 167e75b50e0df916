"""Chapter 8: the judged answers as a page to open and to hand on."""

from adjudge.demo import _judges
from adjudge.demo._scene import Scene
from adjudge.errors import MissingExtra


def chapter(scene: Scene) -> None:
    """Write a report of the judged answers, and say how to open it, and the runs."""
    heading = "8. A look at what happened"
    run = scene.folder / "judged.run"
    if not run.exists():
        _judges.judge_all(run)
    try:
        from adjudge.view import write_report

        write_report(run, out=scene.folder / "report.html")
    except MissingExtra as error:
        scene.say(f"{heading}: {error.message}")
        return
    scene.say(
        f"{heading}: the judged answers of chapter 3 as one file, those that are not right first, to open in a browser "
        f"and to hand on:\n\n    {(scene.folder / 'report.html').as_uri()}\n\n"
        "Everything, down to each prompt and reply, with search, filters and labels, in a page that follows a run:\n\n"
        f"    adjudge view {scene.folder}"
    )
