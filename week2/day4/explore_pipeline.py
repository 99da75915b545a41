import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, day 4: a pipeline")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 2, day 4: a pipeline

    Each line is a slot of the ring, and time goes from left to right. A slot is free again when its tile is done.
    From how many slots on does another one save nothing, and what has to change for that number to grow?
    """)
    return


@app.cell
def _(mo):
    stages = mo.ui.slider(1, 8, value=2, label="slots (stages)", show_value=True)
    load = mo.ui.slider(0, 20, value=6, label="clocks until a tile is there", show_value=True)
    compute = mo.ui.slider(1, 20, value=2, label="clocks of computing with it", show_value=True)
    tiles = mo.ui.slider(1, 24, value=8, label="tiles", show_value=True)
    mo.vstack([stages, load, compute, tiles])
    return compute, load, stages, tiles


@app.cell
def _(compute, explore, image, load, mo, stages, tiles):
    picture = explore.pipeline(load.value, compute.value, tiles.value, stages.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
