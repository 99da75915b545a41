import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 4: attention")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 4: attention

    The query (1, 2, 0, 1) and its four keys, step by step; the square marks where the result lies among the values.
    Change the scale, then hide the last keys. When does one key take all the weight?
    """)
    return


@app.cell
def _(mo):
    scale = mo.ui.slider(steps=[0, 0.125, 0.25, 0.5, 1, 2, 4], value=0.5, label="scale", show_value=True)
    seen = mo.ui.slider(0, 4, value=4, label="keys seen", show_value=True)
    mo.vstack([scale, seen])
    return scale, seen


@app.cell
def _(explore, image, mo, scale, seen):
    picture = explore.attention(scale.value, seen.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
