import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 3: a stable softmax")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 3: a stable softmax

    Four scores in float32, and a number that is taken off each before exp. As long as everything fits, the bars do not
    move with it, nor does the log-sum-exp. Move one score far away from the others: which numbers are still safe?
    """)
    return


@app.cell
def _(mo):
    taken_off = mo.ui.slider(-120, 240, value=103, label="taken off", show_value=True)
    score_0 = mo.ui.slider(-120, 120, value=102, label="score of key 0", show_value=True)
    score_1 = mo.ui.slider(-120, 120, value=100, label="score of key 1", show_value=True)
    score_2 = mo.ui.slider(-120, 120, value=101, label="score of key 2", show_value=True)
    score_3 = mo.ui.slider(-120, 120, value=103, label="score of key 3", show_value=True)
    mo.vstack([taken_off, score_0, score_1, score_2, score_3])
    return score_0, score_1, score_2, score_3, taken_off


@app.cell
def _(explore, image, mo, score_0, score_1, score_2, score_3, taken_off):
    picture = explore.stable_softmax((score_0.value, score_1.value, score_2.value, score_3.value), taken_off.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
