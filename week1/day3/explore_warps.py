import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 3: warps")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 3: warps

    The threads of a block are numbered with x first; each 32 of them are a warp, and the number in a square is its
    lane. Try 33 x 1 and 16 x 5. Which blocks leave no lane without a thread?
    """)
    return


@app.cell
def _(mo):
    x = mo.ui.slider(1, 64, value=16, label="x, threads in a row", show_value=True)
    y = mo.ui.slider(1, 8, value=4, label="y, rows", show_value=True)
    mo.vstack([x, y])
    return x, y


@app.cell
def _(explore, image, mo, x, y):
    picture = explore.warps(x.value, y.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
