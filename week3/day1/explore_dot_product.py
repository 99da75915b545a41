import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 1: dot product")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 1: dot product

    The query points to the right, and the key where you let it. Its score grows with both lengths; its cosine is a
    matter of the angle alone. Let the key grow longer and turn it so that the score stays: where does its tip go, and
    what becomes of the cosine?
    """)
    return


@app.cell
def _(mo):
    angle = mo.ui.slider(-180, 180, step=5, value=60, label="angle of the key", show_value=True)
    length = mo.ui.slider(0, 3, step=0.25, value=2, label="length of the key", show_value=True)
    query_length = mo.ui.slider(0, 3, step=0.25, value=2, label="length of the query", show_value=True)
    mo.vstack([angle, length, query_length])
    return angle, length, query_length


@app.cell
def _(angle, explore, image, length, mo, query_length):
    picture = explore.dot_product(angle.value, length.value, query_length.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
