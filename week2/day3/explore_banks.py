import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, day 3: banks")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 2, day 3: banks

    Each column of the picture is a bank, and a tile of 32 x 32 float32 lies in them line after line, its padding in a
    lighter grey; the elements that a warp reads are coloured by the wavefront that serves them. Which paddings make a
    column one wavefront, and what reads slowly in a tile that is swizzled?
    """)
    return


@app.cell
def _(mo):
    padding = mo.ui.slider(0, 32, value=0, label="padding, in elements of a row", show_value=True)
    at = mo.ui.slider(0, 31, value=1, label="which row or column; where the diagonal begins", show_value=True)
    mo.vstack([padding, at])
    return at, padding


@app.cell
def _(mo):
    read = mo.ui.radio(["row", "column", "diagonal"], value="column", label="a warp reads a", inline=True)
    swizzled = mo.ui.switch(label="swizzled: element [row, col] is kept in column col ^ row")
    mo.vstack([read, swizzled])
    return read, swizzled


@app.cell
def _(at, explore, image, mo, padding, read, swizzled):
    picture = explore.tile_in_banks(padding.value, swizzled.value, read.value, at.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
