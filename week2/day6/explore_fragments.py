import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, day 6: fragments")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 2, day 6: fragments

    One instruction of a tensor core multiplies a, of 16 rows, by b, of 8 columns. Its warp has both in registers, and
    the sum too: each cell says which lane holds it. What do the elements of a that one lane holds have in common?
    """)
    return


@app.cell
def _(mo):
    lane = mo.ui.slider(0, 31, value=0, label="lane", show_value=True)
    size = mo.ui.slider(steps=[2, 4], value=2, label="bytes of a factor", show_value=True)
    mo.vstack([lane, size])
    return lane, size


@app.cell
def _(explore, image, lane, mo, size):
    picture = explore.fragments(lane.value, size.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
