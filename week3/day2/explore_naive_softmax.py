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

    Four keys with the scores 2, 0, 1 and 3, and the same number added to each, which in mathematics changes no weight.
    On the line an exponential fits where it is pale. How far to the right can the keys go, and what breaks first: an
    exponential or the sum? At the other end, in which of the formats do weights go wrong before they are NaN?
    """)
    return


@app.cell
def _(mo):
    name = mo.ui.radio(["float16", "bfloat16", "float32"], value="float16", label="format", inline=True)
    name
    return (name,)


@app.cell
def _(mo, name):
    least, most = (-24, 14) if name.value == "float16" else (-110, 95)
    shift = mo.ui.slider(least, most, value=8, label="added to each score", show_value=True)
    shift
    return (shift,)


@app.cell
def _(explore, image, mo, name, shift):
    picture = explore.naive_softmax(name.value, shift.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
