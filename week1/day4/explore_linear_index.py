import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 4: linear index")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 4: linear index

    Element [row, col] of a view lies at row * row_stride + col * col_stride; a row has one colour, above as a matrix
    and below in memory. With 2 rows of 3 the strides 3 and 1 are row-major. Which strides make the same memory
    column-major, and which let one row stand for both?
    """)
    return


@app.cell
def _(mo):
    rows = mo.ui.slider(1, 5, value=2, label="rows", show_value=True)
    cols = mo.ui.slider(1, 8, value=3, label="columns", show_value=True)
    row_stride = mo.ui.slider(0, 12, value=3, label="row_stride", show_value=True)
    col_stride = mo.ui.slider(0, 12, value=1, label="col_stride", show_value=True)
    mo.vstack([rows, cols, row_stride, col_stride])
    return col_stride, cols, row_stride, rows


@app.cell
def _(col_stride, cols, explore, image, mo, row_stride, rows):
    picture = explore.view(rows.value, cols.value, row_stride.value, col_stride.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
