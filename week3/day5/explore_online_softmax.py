import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 5: online softmax")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 5: online softmax

    The state after each step along four scores; a bar shows l and what each key adds to it. Where m rises, all that
    was added before shrinks by alpha. In which order of the scores does nothing ever shrink?
    """)
    return


@app.cell
def _(mo):
    k0 = mo.ui.slider(-6, 6, value=2, label="score of key 0", show_value=True)
    k1 = mo.ui.slider(-6, 6, value=0, label="score of key 1", show_value=True)
    k2 = mo.ui.slider(-6, 6, value=1, label="score of key 2", show_value=True)
    k3 = mo.ui.slider(-6, 6, value=3, label="score of key 3", show_value=True)
    block = mo.ui.slider(1, 4, value=1, label="scores a step", show_value=True)
    mo.vstack([k0, k1, k2, k3, block])
    return block, k0, k1, k2, k3


@app.cell
def _(block, explore, image, k0, k1, k2, k3, mo):
    picture = explore.online_softmax([k0.value, k1.value, k2.value, k3.value], block.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
