import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 6: tiled matmul")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 6: tiled matmul

    One product of the many that make out = a @ b, marked: a program has its tile of out (yellow), and in each step
    along k it loads one tile of a and one of b (blue). Move p, then row and col: what does the program load again?
    How does the number of loaded elements depend on the tile?
    """)
    return


@app.cell
def _(mo):
    row = mo.ui.slider(0, 39, value=20, label="row", show_value=True)
    col = mo.ui.slider(0, 23, value=3, label="col", show_value=True)
    p = mo.ui.slider(0, 31, value=5, label="p, along k", show_value=True)
    tile = mo.ui.slider(steps=[1, 4, 8, 16], value=16, label="tile", show_value=True)
    mo.vstack([row, col, p, tile])
    return col, p, row, tile


@app.cell
def _(col, explore, image, mo, p, row, tile):
    picture = explore.tiled_matmul(row.value, col.value, p.value, tile.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
