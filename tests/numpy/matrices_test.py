#!/usr/bin/python3
"""Compares functions of matrices with NumPy: INVERSE, PINV, CHOLESKY, EXPM, DET, LOGDET, SOLVE, LSTSQ, QR, SVD (also of low rank) and EIGH of
random real and complex matrices, batched over labels, transposed and computed; whole and cut into tiles, with little
memory, without passes, and on three workers. Factorisations are compared by what they multiply to, and by what makes
them unique."""
import random
import sys

import numpy as np

from modes import compare, query_modes

CASES = 120
PARTITIONED = ("ALTER TENSOR A PARTITION (2, 3, 2); ALTER TENSOR S PARTITION (2, 2); ALTER TENSOR T PARTITION (4, 2); "
               "ALTER TENSOR C PARTITION (2, 2, 2); ALTER TENSOR B PARTITION (2, 2, 1); ALTER TENSOR L PARTITION (8, 1); "
               "ALTER TENSOR G PARTITION (3, 2); ALTER TENSOR X PARTITION (1, 2, 2); "
               "ALTER TENSOR K PARTITION (4, 2, 1);")
PASSES = "inlining,elementwise_fusion,chain_fusion,common_subexpressions,selection_pushdown"


def adjoint(values):
    return np.conj(np.swapaxes(values, -1, -2))


def square(rng):
    """A reference to square matrices, its labels and its values."""
    kind = rng.randrange(4)
    if kind == 0:
        return "A[b,i,j]", "b", VALUES["A"]
    if kind == 1:
        return "A[b,j,i]", "b", VALUES["A"]  # the first label is that of the rows
    if kind == 2:
        return "S[i,j]", "", VALUES["S"]
    return "C[b,i,j]", "b", VALUES["C"]


def any_shape(rng):
    if rng.random() < 0.5:
        reference, batch, values = square(rng)
        return reference.replace("A[b,j,i]", "A[b,i,j]"), batch, VALUES["A"] if reference == "A[b,j,i]" else values
    if rng.random() < 0.5:
        return "T[i,j]", "", VALUES["T"]
    return "2 * T[j,i]", "", 2 * VALUES["T"]


def rows_and_columns(reference):
    inside = reference[reference.index("[") + 1:-1].split(",")
    return inside[-2:]


def case(rng):
    function = rng.choice(["INVERSE", "PINV", "CHOLESKY", "EXPM", "DET", "LOGDET", "SOLVE", "LSTSQ", "QR", "SVD", "EIGH"])
    dims = lambda *labels: ",".join([label for label in labels if label])  # noqa: E731
    if function in ("PINV", "LSTSQ", "QR", "SVD"):
        reference, batch, values = any_shape(rng)
    else:
        reference, batch, values = square(rng)
    row, column = rows_and_columns(reference)
    if function == "INVERSE":
        head = [label for label in (batch, "p", "q") if label]
        expected = np.linalg.inv(values)
        order = list(range(len(head)))
        if batch and rng.random() < 0.5:  # the batch may stand anywhere
            order = [1, 0, 2]
        head = [head[n] for n in order]
        return f"EINSUM Z[{','.join(head)}] = INVERSE({reference})", np.transpose(expected, order)
    if function == "PINV":
        return f"EINSUM Z[{dims(batch, 'p', 'q')}] = PINV({reference})", np.linalg.pinv(values)
    if function == "EXPM":
        power, term = np.zeros_like(values), np.broadcast_to(np.eye(values.shape[-1]), values.shape).astype(values.dtype)
        for n in range(1, 80):
            power, term = power + term, term @ (values / 4) / n
        return f"EINSUM Z[{dims(batch, 'p', 'q')}] = EXPM({reference} / 4)", power
    if function == "DET":
        return f"EINSUM Z[{batch}] = DET({reference})", np.linalg.det(values)
    if function == "LOGDET":
        expected = np.linalg.slogdet(values)[1]
        return f"EINSUM Z[{batch}] = LOGDET({reference})", expected.astype(values.dtype)
    if function == "CHOLESKY":
        positive = values @ adjoint(values)
        inner = reference.replace(row, "r").replace(column, "c") if row != "i" else reference
        row2, column2 = rows_and_columns(inner)
        other = inner.replace(f"{row2},{column2}]", f"q,{column2}]")
        text = (f"WITH M[{dims(batch, row2, 'q')}] = SUM[{column2}]({inner} * CONJ({other})) "
                f"EINSUM Z[{dims(batch, 'p', 'o')}] = CHOLESKY(M[{dims(batch, row2, 'q')}])")
        return text, np.linalg.cholesky(positive)
    if function in ("SOLVE", "LSTSQ"):
        wide = rng.random() < 0.5
        batched = bool(batch) and rng.random() < 0.5
        size = values.shape[-2]
        right = VALUES["B"][:, :size, :] if batched else VALUES["B"][0, :size, :]
        right = right if wide else right[..., 0]
        text = f"B[{'b' if batched else '0'},{row}+0,{'n' if wide else '0'}]"
        full = right[..., None] if not wide else right
        solve = np.linalg.solve if function == "SOLVE" else lambda a, y: np.linalg.pinv(a) @ y
        expected = solve(values, np.broadcast_to(full, values.shape[:-2] + full.shape[-2:]))
        expected = expected if wide else expected[..., 0]
        head = dims(batch, "p", "n" if wide else "")
        # The right side is read by a definition, whose extent is that of the rows.
        dims_right = dims("b" if batched else "", row, "n" if wide else "")
        text = (f"WITH y[{dims('b' if batched else '', f'{row} {size}', 'n' if wide else '')}] = {text} "
                f"EINSUM Z[{head}] = {function}({reference}, y[{dims_right}])")
        return text, expected
    if function == "QR":
        q, r = np.linalg.qr(values)
        phases = np.einsum("...ii->...i", r[..., :r.shape[-2], :r.shape[-2]])
        phases = phases / np.abs(phases)
        if rng.random() < 0.5:
            return f"WITH (Q, R) = QR({reference}) EINSUM Z[{dims(batch, row, 'k')}] = Q[{dims(batch, row, 'k')}]", \
                q * phases[..., None, :]
        return f"WITH (Q, R) = QR({reference}) EINSUM Z[{dims(batch, 'k', column)}] = R[{dims(batch, 'k', column)}]", \
            r / phases[..., :, None]
    if function == "SVD":
        if rng.random() < 0.4:
            return f"WITH (U, s, V) = SVD({reference}) EINSUM Z[{dims(batch, 'k')}] = s[{dims(batch, 'k')}]", \
                np.linalg.svd(values, compute_uv=False)
        text = (f"WITH (U, s, V) = SVD({reference}) EINSUM Z[{dims(batch, row, column)}] = SUM[k](U[{dims(batch, row, 'k')}] "
                f"* s[{dims(batch, 'k')}] * CONJ(V[{dims(batch, column, 'k')}]))")
        return text, values
    hermitian = values + adjoint(values)
    inner = reference.replace("A[b,j,i]", "A[b,i,j]")
    if inner != reference:
        hermitian = VALUES["A"] + adjoint(VALUES["A"])
    turned = inner.replace("i,j]", "j,i]")
    definition = f"H[{dims(batch, 'i', 'j')}] = {inner} + CONJ({turned})"
    if rng.random() < 0.4:
        return f"WITH {definition}, (w, V) = EIGH(H[{dims(batch, 'i', 'j')}]) EINSUM Z[{dims(batch, 'k')}] = " \
               f"w[{dims(batch, 'k')}]", np.linalg.eigvalsh(hermitian)
    return (f"WITH {definition}, (w, V) = EIGH(H[{dims(batch, 'i', 'j')}]) EINSUM Z[{dims(batch, 'i', 'j')}] = "
            f"SUM[k](V[{dims(batch, 'i', 'k')}] * w[{dims(batch, 'k')}] * CONJ(V[{dims(batch, 'j', 'k')}]))"), hermitian


def numerical(function, values):
    """The derivative of a number by central differences."""
    out = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        step = np.zeros(values.shape)
        step[place] = 1e-5
        out[place] = (function(values + step) - function(values - step)) / 2e-5
    return out


def unique_qr(values):
    q, r = np.linalg.qr(values)
    signs = np.sign(np.einsum("...ii->...i", r[..., :r.shape[-2], :r.shape[-2]]))
    return q * signs[..., None, :], r * signs[..., :, None]


def lower(values):
    """What functions read that read the lower triangle alone."""
    return np.tril(values) + np.swapaxes(np.tril(values, -1), -1, -2)


def gradients():
    """Statements for derivatives, and what central differences give."""
    a, t, y = VALUES["A"], VALUES["T"], VALUES["B"][:, :5, :2]
    p = a @ np.swapaxes(a, 1, 2)
    weights = np.arange(1, 6)[:, None] + 2 * np.arange(1, 6)
    number = "(p + 1 + 2 * (q + 1))"
    right = np.arange(5)[:, None] * np.arange(1, 3) + 1.0
    found = []

    def add(with_items, loss, name, values, function, own="b,i,j"):
        found.append((f"WITH {with_items}, GRADIENT OF L[] = {loss} WITH RESPECT TO ({name} AS G) "
                      f"EINSUM Z[{own}] = G[{own}]", numerical(function, values)))

    add("Y[b,p,q] = INVERSE(A[b,i,j])", f"SUM({number} * Y[b,p,q])", "A", a,
        lambda x: np.sum(weights * np.linalg.inv(x)))
    add("Y[p,b,q] = INVERSE(A[b,i,j])", f"SUM({number} * Y[p,b,q]^2)", "A", a,
        lambda x: np.sum(weights * np.linalg.inv(x) ** 2))
    add("d[b] = DET(A[b,i,j])", "SUM((b + 1) * d[b])", "A", a,
        lambda x: np.sum(np.arange(1, 5) * np.linalg.det(x)))
    add("d[b] = LOGDET(A[b,i,j])", "SUM((b + 1) * d[b]^2)", "A", a,
        lambda x: np.sum(np.arange(1, 5) * np.linalg.slogdet(x)[1] ** 2))
    add("y[i 5,n 2] = i * (n + 1) + 1, x[b,j,n] = SOLVE(A[b,i,j], y[i,n])", "SUM((n + 1) * x[b,j,n]^2)", "A", a,
        lambda x: np.sum(np.arange(1, 3) * np.linalg.solve(x, np.broadcast_to(right, (4, 5, 2))) ** 2))
    add("x[b,j] = SOLVE(A[b,i,j], Y[b,i])", "SUM((j + 1) * x[b,j]^2)", "Y", y[:, :, 0],
        lambda x: np.sum(np.arange(1, 6) * np.linalg.solve(a, x[..., None])[..., 0] ** 2), "b,i")
    add("x[b,j,n] = SOLVE(A[b,i,j], W[i,n])", "SUM((j + 1) * x[b,j,n]^2)", "W", y[0],
        lambda x: np.sum(np.arange(1, 6)[:, None] * np.linalg.solve(a, np.broadcast_to(x, (4, 5, 2))) ** 2), "i,n")
    add("K[b,p,q] = CHOLESKY(P[b,i,j])", f"SUM({number} * K[b,p,q])", "P", p,
        lambda x: np.sum(weights * np.linalg.cholesky(lower(x))))
    add("(w, V) = EIGH(P[b,i,j])", "SUM((k + 1) * w[b,k]^2) / 100 + SUM((k + 1) * (i + 1) * V[b,i,k]^2)", "P", p,
        lambda x: np.sum(np.arange(1, 6) * np.linalg.eigvalsh(lower(x)) ** 2) / 100 + np.sum(
            np.arange(1, 6)[:, None] * np.arange(1, 6) * np.linalg.eigh(lower(x))[1] ** 2))
    add("(Q, R) = QR(T[i,j])", "SUM((i + 1) * (k + 1) * Q[i,k]) + SUM((k + 2) * R[k,j]^2)", "T", t,
        lambda x: np.sum(np.arange(1, 10)[:, None] * np.arange(1, 5) * unique_qr(x)[0]) + np.sum(
            np.arange(2, 6)[:, None] * unique_qr(x)[1] ** 2), "i,j")
    for name, values in (("T", t), ("F", VALUES["F"]), ("N", VALUES["S"])):
        add(f"(U, s, V) = SVD({name}[i,j])",
            "SUM((k + 1) * s[k]^2) + SUM((i + 1) * (k + 2) * U[i,k]^2) + SUM((j + 1) * (k + 1)^2 * V[j,k]^2)", name, values,
            svd_loss, "i,j")
        add(f"(U, s, V) = SVD({name}[i,j])", "SUM(s[k])", name, values,
            lambda x: np.sum(np.linalg.svd(x, compute_uv=False)), "i,j")
        add(f"Y[p,q] = PINV({name}[i,j])", f"SUM({number} * Y[p,q])", name, values,
            lambda x: np.sum(numbers(x.T.shape) * np.linalg.pinv(x)), "i,j")
        size = len(values)
        add(f"y[i {size}, n 2] = (i + 1) * (n + 1) + i^2, x[j,n] = LSTSQ({name}[i,j], y[i,n])", "SUM((n + 1) * x[j,n]^2)",
            name, values, lambda x: np.sum(np.arange(1, 3) * (np.linalg.pinv(x) @ squares(len(x))) ** 2), "i,j")
    add("x[b,j] = LSTSQ(A[b,i,j], Y[b,i])", "SUM((j + 1) * x[b,j]^2)", "Y", y[:, :, 0],
        lambda x: np.sum(np.arange(1, 6) * np.linalg.solve(a, x[..., None])[..., 0] ** 2), "b,i")
    add("E[b,p,q] = EXPM(A[b,i,j] / 4)", f"SUM({number} * E[b,p,q])", "A", a,
        lambda x: np.sum(weights * exponential(x / 4)))
    add("K[i,t] = FFT[t](T[t,i])", "SUM((t + 1) * (i + 1) * ABS(K[i,t])^2)", "T", t,
        lambda x: np.sum(np.arange(1, 10)[:, None] * np.arange(1, 5) * np.abs(np.fft.fft(x, axis=0)) ** 2), "t,i")
    add("K[i,t] = IFFT[t](T[t,i] * 2)", "SUM((t + 1) * REAL(K[i,t]) + t * IMAG(K[i,t])^2)", "T", t,
        lambda x: np.sum(np.arange(1, 10)[:, None] * np.fft.ifft(2 * x, axis=0).real +
                         np.arange(9)[:, None] * np.fft.ifft(2 * x, axis=0).imag ** 2), "t,i")
    # Values alone have derivatives where they are equal.
    add("(w, V) = EIGH(I[i,j])", "SUM(w[k]^2)", "I", VALUES["I"], lambda x: np.sum(np.linalg.eigvalsh(lower(x)) ** 2), "i,j")
    add("(U, s, V) = SVD(I[i,j])", "SUM(s[k]^2)", "I", VALUES["I"],
        lambda x: np.sum(np.linalg.svd(x, compute_uv=False) ** 2), "i,j")
    return found


def numbers(shape):
    return np.arange(1, shape[0] + 1)[:, None] + 2 * np.arange(1, shape[1] + 1)


def squares(size):
    return np.arange(1, size + 1)[:, None] * np.arange(1, 3) + (np.arange(size) ** 2)[:, None]


def svd_loss(x):
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    k = np.arange(len(s))
    return (np.sum((k + 1) * s ** 2) + np.sum((np.arange(len(u)) + 1)[:, None] * (k + 2) * u ** 2) +
            np.sum((np.arange(vt.shape[1]) + 1)[:, None] * (k + 1) ** 2 * vt.T ** 2))


def exponential(x):
    power, term = np.zeros_like(x), np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    for n in range(1, 80):
        power, term = power + term, term @ x / n
    return power


def tangents():
    """JVPs along the tensor of the same shape, and what central differences give."""
    a, p = VALUES["A"], VALUES["P"]

    def along(function, values, tangent):
        return (function(values + 1e-5 * tangent) - function(values - 1e-5 * tangent)) / 2e-5

    return [("JVP OF Y[b,p,q] = INVERSE(A[b,i,j]) WITH RESPECT TO (A ALONG P)", along(np.linalg.inv, a, p)),
            ("JVP OF d[b] = DET(A[b,i,j]) WITH RESPECT TO (A ALONG P)", along(np.linalg.det, a, p)),
            ("JVP OF d[b] = LOGDET(A[b,i,j]) WITH RESPECT TO (A ALONG P)",
             along(lambda x: np.linalg.slogdet(x)[1], a, p)),
            ("JVP OF K[b,p,q] = CHOLESKY(P[b,i,j]) WITH RESPECT TO (P ALONG A)",
             along(lambda x: np.linalg.cholesky(lower(x)), p, a)),
            ("JVP OF x[b,j] = SOLVE(A[b,i,j], Y[b,i]) WITH RESPECT TO (A ALONG P, Y ALONG Y)",
             (np.linalg.solve(a + 1e-5 * p, VALUES["Y"][..., None] * (1 + 1e-5)) - np.linalg.solve(
                 a - 1e-5 * p, VALUES["Y"][..., None] * (1 - 1e-5)))[..., 0] / 2e-5),
            ("WITH (w, V) = EIGH(P[b,i,j]) JVP OF Z[b,i,k] = w[b,k] + V[b,i,k]^2 WITH RESPECT TO (P ALONG A)",
             along(lambda x: np.linalg.eigvalsh(lower(x))[:, None, :] + np.linalg.eigh(lower(x))[1] ** 2, p, a)),
            ("WITH (Q, R) = QR(T[i,j]) JVP OF Z[i,k,j] = Q[i,k] + 2 * R[k,j] WITH RESPECT TO (T ALONG D)",
             along(lambda x: unique_qr(x)[0][:, :, None] + 2 * unique_qr(x)[1][None], VALUES["T"], VALUES["D"])),
            *((f"WITH (U, s, V) = SVD({name}[i,j]) JVP OF Z[i,k,j] = s[k] + U[i,k]^2 + 3 * V[j,k]^2 "
               f"WITH RESPECT TO ({name} ALONG {other})", along(svd_parts, VALUES[name], VALUES[other]))
              for name, other in (("T", "D"), ("F", "M"), ("N", "H"))),
            *((f"JVP OF Y[p,q] = PINV({name}[i,j]) WITH RESPECT TO ({name} ALONG {other})",
               along(np.linalg.pinv, VALUES[name], VALUES[other])) for name, other in (("T", "D"), ("F", "M"), ("N", "H"))),
            ("WITH y[i 9,n 2] = (i + 1) * (n + 1) + i^2 JVP OF x[j,n] = LSTSQ(T[i,j], y[i,n]) WITH RESPECT TO (T ALONG D)",
             along(lambda x: np.linalg.pinv(x) @ squares(9), VALUES["T"], VALUES["D"])),
            ("JVP OF x[b,j] = LSTSQ(A[b,i,j], Y[b,i]) WITH RESPECT TO (Y ALONG Y)",
             np.linalg.solve(a, VALUES["Y"][..., None])[..., 0]),
            ("JVP OF E[b,p,q] = EXPM(A[b,i,j] / 4) WITH RESPECT TO (A ALONG P)",
             along(lambda x: exponential(x / 4), a, p)),
            ("JVP OF K[i,t] = FFT[t](T[t,i]) WITH RESPECT TO (T ALONG D)", np.fft.fft(VALUES["D"], axis=0).T),
            ("JVP OF c[t] = CUMSUM[t](S[t,t], H[t,t]) WITH RESPECT TO (S ALONG H, H ALONG S)",
             along(lambda x: recurrence(np.diag(x[0]), np.diag(x[1])), np.stack([VALUES["S"], VALUES["H"]]),
                   np.stack([VALUES["H"], VALUES["S"]])))]


def svd_parts(x):
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return s[None, :, None] + u[:, :, None] ** 2 + 3 * vt[None] ** 2


def recurrence(x, a):
    h = np.zeros(len(x))
    for t in range(len(x)):
        h[t] = x[t] + (a[t] * h[t - 1] if t > 0 else 0)
    return h


def tall_and_low():
    """QR and SVD of matrices with many more rows than columns, and the largest singular values of others."""
    tall, low, lows = VALUES["L"], VALUES["G"], VALUES["X"]
    q, r = unique_qr(tall)
    product = "SUM[k](U[{0}i,k] * s[{0}k] * CONJ(V[{0}j,k]))"
    return [("WITH (Q, R) = QR(L[i,j]) EINSUM Z[i,k] = Q[i,k]", q),
            ("WITH (Q, R) = QR(L[i,j]) EINSUM Z[j,k] = R[k,j]", r.T),
            ("WITH (Q, R) = QR(L[i,j]) EINSUM Z[i,k] = Q[i,k] * R[k,k]", q * np.diag(r)),
            ("WITH (U, s, V) = SVD(2 * L[i,j]) EINSUM Z[k] = s[k]", 2 * np.linalg.svd(tall, compute_uv=False)),
            (f"WITH (U, s, V) = SVD(L[i,j]) EINSUM Z[i,j] = {product.format('')}", tall),
            ("WITH (U, s, V) = SVD(L[i,j], 3, 1) EINSUM Z[k] = s[k]", np.linalg.svd(tall, compute_uv=False)[:3]),
            ("EINSUM Z[j,i] = PINV(L[i,j])", np.linalg.pinv(tall)),
            ("WITH H[b,i,j] = K[i,b,j] * (1 + 2j * (b + 1)) EINSUM Z[b,p,q] = PINV(H[b,i,j])",
             np.linalg.pinv(np.swapaxes(VALUES["K"], 0, 1) * (1 + 2j * np.arange(1, 3))[:, None, None])),
            ("WITH y[i 20011, n 2] = SIN(i) + n EINSUM Z[p,n] = LSTSQ(L[i,j], y[i,n])",
             np.linalg.lstsq(tall, np.sin(np.arange(20011))[:, None] + np.arange(2), rcond=None)[0]),
            ("WITH y[b 2, i 9000] = COS(i) * 2j + b, H[b,i,j] = K[i,b,j] + 1j * j EINSUM Z[b,p] = LSTSQ(H[b,i,j], y[b,i])",
             (np.linalg.pinv(np.swapaxes(VALUES["K"], 0, 1) + 1j * np.arange(8)) @
              (2j * np.cos(np.arange(9000))[None, :, None] + np.arange(2)[:, None, None]))[..., 0]),
            ("WITH (U, s, V) = SVD(G[i,j], 5, 2) EINSUM Z[k] = s[k]", np.linalg.svd(low, compute_uv=False)[:5]),
            ("WITH (U, s, V) = SVD(G[j,i], 5, 2) EINSUM Z[i,j] = SUM[k](U[j,k] * s[k] * V[i,k])", low.T),
            (f"WITH (U, s, V) = SVD(G[i,j], 5, 7) EINSUM Z[i,j] = {product.format('')}", low),
            (f"WITH (U, s, V) = SVD(X[b,i,j], 3, 7) EINSUM Z[b,i,j] = {product.format('b,')}", lows),
            ("WITH (U, s, V) = SVD(X[b,i,j], 3, 7) EINSUM Z[b,k,l] = SUM[i](U[b,i,k] * CONJ(U[b,i,l+0]))",
             np.broadcast_to(np.eye(3), (2, 3, 3)).astype(complex))]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    rng = random.Random(20261130)
    exact = [case(rng) for _ in range(count)]
    exact += tall_and_low()
    wanted = exact + gradients() + tangents()

    def agrees(n, found, expected):
        tolerance = 1e-8 if n < len(exact) else 1e-5
        return found.shape == expected.shape and np.allclose(found, expected, rtol=10 * tolerance,
                                                             atol=tolerance * max(1, np.abs(expected).max()))

    modes = query_modes(PARTITIONED, PASSES)
    return compare(modes, VALUES, [(f"COPY ({text}) TO @", expected) for text, expected in wanted], agrees)


GENERATOR = np.random.default_rng(17)
VALUES = {"A": GENERATOR.normal(size=(4, 5, 5)) + 3 * np.eye(5), "S": GENERATOR.normal(size=(6, 6)),
          "T": GENERATOR.normal(size=(9, 4)), "B": GENERATOR.normal(size=(4, 9, 3)),
          "C": GENERATOR.normal(size=(4, 3, 3)) + 1j * GENERATOR.normal(size=(4, 3, 3))}
VALUES.update({"D": GENERATOR.normal(size=(9, 4)), "F": GENERATOR.normal(size=(4, 7)),
               "M": GENERATOR.normal(size=(4, 7)), "H": GENERATOR.normal(size=(6, 6)), "I": np.diag([2.0, 2.0, 2.0])})
VALUES["N"] = VALUES["S"]  # beside a definition called s
VALUES["P"] = VALUES["A"] @ np.swapaxes(VALUES["A"], 1, 2)
VALUES["W"] = VALUES["B"][0, :5, :2].copy()
VALUES["Y"] = VALUES["B"][:, :5, 0].copy()
VALUES["L"] = GENERATOR.normal(size=(20011, 7))
VALUES["G"] = GENERATOR.normal(size=(90, 5)) @ np.diag([9, 7, 5, 1, 0.1]) @ GENERATOR.normal(size=(5, 70))
VALUES["K"] = GENERATOR.normal(size=(9000, 2, 8))
VALUES["X"] = (GENERATOR.normal(size=(2, 40, 3)) + 1j * GENERATOR.normal(size=(2, 40, 3))) @ GENERATOR.normal(size=(2, 3, 31))

if __name__ == "__main__":
    sys.exit(main())
