import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 2: a softmax that breaks")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 2: a softmax that breaks

    Four keys with the scores 2, 0, 1 and 3; on the line their exponentials fit where it is pale. In mathematics the
    number that is added changes no weight. How far to the right can the keys go before an exponential or the sum is
    too large, and at the other end, do weights go wrong before they are NaN?
    """)
    return


@app.cell
def _(mo):
    name = mo.ui.radio(["float16", "bfloat16", "float32"], value="float16", label="format", inline=True)
    name
    return (name,)


@app.cell
def _(mo):
    shift = mo.ui.slider(-110, 95, value=8, label="added to each score", show_value=True)
    times = mo.ui.slider(1, 6, value=1, label="each score times", show_value=True)
    mo.vstack([times, shift])
    return shift, times


@app.cell
def _(explore, image, mo, name, shift, times):
    picture = explore.naive_softmax(name.value, shift.value, times.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
