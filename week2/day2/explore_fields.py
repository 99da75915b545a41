import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, day 2: fields of structs")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 2, day 2: fields of structs

    The same 64 structs twice, as an array of structs and as a struct of arrays: each lane of a warp wants the first
    fields of one struct. Wanted is what has a colour, and what is grey comes along unasked. With how many wanted
    fields do both orders cost the same, and in which of them does it matter where the first struct lies?
    """)
    return


@app.cell
def _(mo):
    fields = mo.ui.slider(1, 8, value=4, label="fields of a struct", show_value=True)
    wanted = mo.ui.slider(1, 8, value=1, label="wanted fields", show_value=True)
    first = mo.ui.slider(0, 31, value=0, label="first struct", show_value=True)
    mo.vstack([fields, wanted, first])
    return fields, first, wanted


@app.cell
def _(explore, fields, first, image, mo, wanted):
    picture = explore.structs(fields.value, wanted.value, first.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
