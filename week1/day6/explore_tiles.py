import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 6: tile coordinates")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 6: tile coordinates

    A matrix of m x n, its tiles, and the program of each; what a mask leaves out is empty. Programs count along a row
    of tiles, then down. For 40 x 24, which tiles need no mask at all?
    """)
    return


@app.cell
def _(mo):
    m = mo.ui.slider(1, 64, value=40, label="m, rows", show_value=True)
    n = mo.ui.slider(1, 64, value=24, label="n, columns", show_value=True)
    tile_m = mo.ui.slider(steps=[8, 16, 32], value=16, label="rows of a tile", show_value=True)
    tile_n = mo.ui.slider(steps=[8, 16, 32], value=16, label="columns of a tile", show_value=True)
    mo.vstack([m, n, tile_m, tile_n])
    return m, n, tile_m, tile_n


@app.cell
def _(explore, image, m, mo, n, tile_m, tile_n):
    picture = explore.tiles(m.value, n.value, tile_m.value, tile_n.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
