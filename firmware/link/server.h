/* The board's end of the link: takes bytes, answers requests, sends samples. Runs in the
 * background, never waits, and uses only the memory that it is given. It reaches hardware only
 * through server_port_t, so that the same server runs on the host. */
#ifndef FIRMWARE_LINK_SERVER_H
#define FIRMWARE_LINK_SERVER_H

#include "firmware/app/app.h"
#include "firmware/link/protocol.h"
#include "firmware/link/set.h"
#include "firmware/params/store.h"
#include "firmware/link/telemetry.h"

/* Largest payload in either direction; a board with little memory takes less. */
#ifndef SERVER_PAYLOAD
#define SERVER_PAYLOAD PROTOCOL_PAYLOAD_MAX
#endif
_Static_assert(SERVER_PAYLOAD >= PROTOCOL_PAYLOAD_MIN && SERVER_PAYLOAD <= PROTOCOL_PAYLOAD_MAX,
               "what the protocol allows");

/* Batch evaluation (firmware/lab/batch.h), if the build has it. */
typedef struct {
    void *context;
    uint8_t methods;
    uint8_t reals; /* bits of batch_real_t: number types that this build has */
    /* Name of a method, and its problem. */
    void (*describe)(void *context, uint8_t method, uint8_t *problem, const char **problem_name,
                     const char **method_name);
    /* 0 or a reason as from app_load; real: a batch_real_t. */
    int (*load)(void *context, uint8_t real, const uint8_t *image, size_t size);
    int (*wrench)(void *context, const double wrench[6]); /* a link_status_t */
    double *row;                                          /* input and result */
    uint16_t row_room;
    /* LINK_OK, LINK_INDEX, LINK_ORDER, or LINK_APP with a reason. */
    int (*run)(void *context, uint8_t method, int *reason, uint32_t *limited, uint32_t *cost);
} server_batch_t;

typedef struct {
    const char *board, *build; /* name of the board; build id as hexadecimal digits */
    uint32_t baud;
    uint8_t flags; /* HELLO_... */
    void *context;
    size_t (*read)(void *context, uint8_t *bytes, size_t most);       /* received bytes */
    bool (*write)(void *context, const uint8_t *bytes, size_t count); /* all or none */
    /* bytes that write would take */
    size_t (*write_free)(void *context);
    /* writes the counters that the port knows */
    void (*counters)(void *context, uint32_t counter[COUNTERS]);
    /* NULL: nothing can be saved */
    const store_medium_t *medium;
    /* With HELLO_IN_PLACE: the addresses of the slots. Else memory for the running image and for
     * the incoming one; rows may use the latter between two images. */
    const uint8_t *slot[STORE_SLOTS];
    uint8_t *image, *incoming;
    uint32_t image_room;
    const uint8_t *(*crash)(void *context, size_t *size); /* NULL: no crash */
    void (*crash_clear)(void *context);
    void (*reset)(void *context); /* NULL: not possible */
    const server_batch_t *batch;  /* NULL: no batch evaluation */
} server_port_t;

typedef struct {
    app_t *app;
    const server_port_t *port;
    frame_reader_t reader;
    telemetry_t telemetry;
    store_t store;
    /* The running image: its bytes and its source. */
    const uint8_t *running;
    uint32_t running_length, running_crc;
    uint8_t source;
    int16_t reason; /* why none runs */
    uint32_t place; /* joint that the last refusal was about */
    uint16_t unknown;
    /* The incoming image. */
    uint8_t incoming, incoming_target;
    uint32_t incoming_length, incoming_crc, received, received_crc;
    /* The last ONCE request and its reply. */
    uint8_t once_valid, once_size;
    uint8_t once_head[PROTOCOL_HEAD];
    uint32_t once_crc;
    uint8_t once_reply[PROTOCOL_ONCE_REPLY + 1];
    uint8_t resetting;
    size_t reply; /* bytes of an answer in tx that wait for room on the line */
    uint8_t rx[FRAME_READ_ROOM(PROTOCOL_HEAD + SERVER_PAYLOAD)];
    uint8_t tx[FRAME_WRITE_ROOM(PROTOCOL_HEAD + SERVER_PAYLOAD)];
} server_t;

/* The reason of a refusal is an app_error_t, which includes image errors, or REASON_STORE plus a
 * store_status_t. */
enum { REASON_STORE = -300 };

/* Loads the stored set into the application, which must be initialised. */
void server_start(server_t *server, app_t *app, const server_port_t *port);
/* Does what is due now, up to the answer to one request. True if bytes came: more may follow at
 * once. */
bool server_poll(server_t *server);

#endif
