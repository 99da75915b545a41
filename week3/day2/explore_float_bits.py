import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 2: the bits of a float")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore
    from tools.draw.explore.floats import FORMATS

    return FORMATS, explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 2: the bits of a float

    Red is the sign, blue the code of the exponent, yellow the mantissa; below stand the numbers around it, as far
    apart as they are. The first one is .644, the largest weight of the lesson. At which mantissa are its neighbours
    not the same distance away? What changes at code 0, and what at the last one?
    """)
    return


@app.cell
def _(mo):
    name = mo.ui.radio(["float16", "bfloat16", "E5M2"], value="float16", label="format", inline=True)
    negative = mo.ui.switch(label="negative")
    mo.vstack([name, negative])
    return name, negative


@app.cell
def _(FORMATS, mo, name):
    form = FORMATS[name.value]
    weight = int(form.encode(0.644))
    ones = 2**form.mantissa_bits - 1
    code = mo.ui.slider(0, 2**form.exponent_bits - 1, value=weight >> form.mantissa_bits, label="code", show_value=True)
    mantissa = mo.ui.slider(0, ones, value=weight & ones, label="mantissa", show_value=True)
    mo.vstack([code, mantissa])
    return code, mantissa


@app.cell
def _(code, explore, image, mantissa, mo, name, negative):
    picture = explore.float_bits(name.value, code.value, mantissa.value, negative.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
