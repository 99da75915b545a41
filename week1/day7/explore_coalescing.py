import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 7: coalescing")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 7: coalescing

    A warp loads 32 elements, and memory sends whole sectors of 32 bytes: those that are drawn, with what is wanted of
    them in colour. Lane i reads element offset + i * stride. At which stride does a warp first need the most sectors,
    and when does an offset cost one more?
    """)
    return


@app.cell
def _(mo):
    stride = mo.ui.slider(0, 16, value=1, label="stride, in elements", show_value=True)
    offset = mo.ui.slider(0, 7, value=0, label="offset, in elements", show_value=True)
    itemsize = mo.ui.slider(steps=[2, 4, 8], value=4, label="bytes of an element", show_value=True)
    mo.vstack([stride, offset, itemsize])
    return itemsize, offset, stride


@app.cell
def _(explore, image, itemsize, mo, offset, stride):
    picture = explore.sectors(stride.value, offset.value, itemsize.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
