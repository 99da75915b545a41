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

    One instruction of a tensor core multiplies a, 16 x 16, by b, 16 x 8. Its warp has both in registers, and the sum
    too: each cell says which lane holds it. What do the elements of a that one lane holds have in common? Which lanes
    hold row 0 of a, and which hold row 0 of the sum?
    """)
    return


@app.cell
def _(mo):
    lane = mo.ui.slider(0, 31, value=0, label="lane", show_value=True)
    lane
    return (lane,)


@app.cell
def _(explore, image, lane, mo):
    picture = explore.fragments(lane.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
