/* Product or laboratory. The product contains what a tick, loading, the link and the store use, in
 * the number type of its board. The laboratory (make LAB=1) adds other methods, other number types
 * and injected defects; the host always has them. */
#ifndef FIRMWARE_PARAMS_VARIANT_H
#define FIRMWARE_PARAMS_VARIANT_H

/* LAB_X(X, ...) is X(...) in the laboratory and nothing in the product. */
#ifdef FIRMWARE_LAB
#define LAB_X(X, ...) X(__VA_ARGS__)
#else
#define LAB_X(X, ...)
#endif

/* A board with little flash sends no help; the tool has the same texts. */
#ifndef APP_HELP
#define APP_HELP 1
#endif
#define HELP(text) (APP_HELP ? (text) : "")

#endif
