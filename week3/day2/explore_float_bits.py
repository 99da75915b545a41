import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 2: the bits of a float")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 2: the bits of a float

    Red is the sign, blue the code of the exponent, yellow the mantissa; below stand the numbers around it, as far
    apart as they are. At first it is .644, the largest weight of the lesson, in float16. At which mantissa are its two
    neighbours not equally far away, and what changes at the first code and at the last?
    """)
    return


@app.cell
def _(mo):
    exponent_bits = mo.ui.slider(2, 8, value=5, label="exponent bits", show_value=True)
    mantissa_bits = mo.ui.slider(1, 10, value=10, label="mantissa bits", show_value=True)
    code = mo.ui.slider(0, 255, value=14, label="code, at most all ones", show_value=True)
    mantissa = mo.ui.slider(0, 1023, value=294, label="mantissa, at most all ones", show_value=True)
    mo.vstack([exponent_bits, mantissa_bits, code, mantissa])
    return code, exponent_bits, mantissa, mantissa_bits


@app.cell
def _(code, explore, exponent_bits, image, mantissa, mantissa_bits, mo):
    picture = explore.float_bits(exponent_bits.value, mantissa_bits.value, code.value, mantissa.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
