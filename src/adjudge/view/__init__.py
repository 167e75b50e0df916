"""Runs, looked at in a browser: a local page over run files, and a report that is one file.

    with ViewServer(["july.run"]) as server:        what `adjudge view july.run` opens
        print(server.link)
    write_report("july.run", out="report.html")     what `adjudge report` writes
    label_figures("july.run").corrected             what people's labels say of the run and of its judge

It reads; only labels are written, to a file of their own. What is searched and counted is kept in an index in the cache
folder.
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.view._app import ViewServer
    from adjudge.view._label_desk import label_figures
    from adjudge.view._label_figures import LabelFigures
    from adjudge.view._report import write_comparison, write_report
    from adjudge.view._sources import usual_places

__all__ = ["LabelFigures", "ViewServer", "label_figures", "usual_places", "write_comparison", "write_report"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_app": ("ViewServer",),
        "_label_desk": ("label_figures",),
        "_label_figures": ("LabelFigures",),
        "_report": ("write_comparison", "write_report"),
        "_sources": ("usual_places",),
    },
)
