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

/* Largest payload in either direction; a board with little memory defines a smaller one. */
#ifndef SERVER_PAYLOAD
#define SERVER_PAYLOAD PROTOCOL_PAYLOAD_MAX
#endif
_Static_assert(SERVER_PAYLOAD >= PROTOCOL_PAYLOAD_MIN && SERVER_PAYLOAD <= PROTOCOL_PAYLOAD_MAX,
               "what the protocol allows");

enum { SERVER_HOLDER = 16 }; /* bytes of a holder's name, with the final zero */

/* Batch evaluation (firmware/lab/batch.h), if the build has it. */
typedef struct {
    void *context;
    uint8_t methods;
    uint8_t reals; /* mask of batch_real_t: the number types of this build */
    /* Returns the name of a method, and the number and name of its problem. */
    void (*describe)(void *context, uint8_t method, uint8_t *problem, const char **problem_name,
                     const char **method_name);
    /* Returns 0 or a reason like app_load; real is a batch_real_t. */
    int (*load)(void *context, uint8_t real, const uint8_t *image, size_t size);
    int (*wrench)(void *context, const double wrench[6]); /* returns a link_status_t */
    double *row;                                          /* input and result of a row */
    uint16_t row_room;
    /* Returns LINK_OK, LINK_INDEX, LINK_ORDER, or LINK_APP with a reason. */
    int (*run)(void *context, uint8_t method, int *reason, uint32_t *limited, uint32_t *cost);
} server_batch_t;

typedef struct {
    const char *board, *build; /* name of the board; build id as hexadecimal digits */
    uint32_t baud;
    uint8_t flags; /* HELLO_... */
    void *context;
    size_t (*read)(void *context, uint8_t *bytes, size_t most);       /* reads received bytes */
    bool (*write)(void *context, const uint8_t *bytes, size_t count); /* takes all bytes or none */
    /* returns how many bytes write would take */
    size_t (*write_free)(void *context);
    /* writes the counters that the port knows */
    void (*counters)(void *context, uint32_t counter[COUNTERS]);
    /* NULL: nothing can be saved */
    const store_medium_t *medium;
    /* With HELLO_IN_PLACE: the addresses of the slots. Otherwise memory for the running image
     * and for the incoming one; batch rows may use the memory of the incoming image between two
     * images. */
    const uint8_t *slot[STORE_SLOTS];
    uint8_t *image, *incoming;
    uint32_t image_room;
    const uint8_t *(*crash)(void *context, size_t *size); /* NULL if there was no crash */
    void (*crash_clear)(void *context);
    void (*reset)(void *context); /* NULL if a reset is not possible */
    const server_batch_t *batch;  /* NULL if there is no batch evaluation */
} server_port_t;

typedef struct {
    app_t *app;
    const server_port_t *port;
    frame_reader_t reader;
    telemetry_t telemetry;
    store_t store;
    /* The running image: its bytes, and where it came from. */
    const uint8_t *running;
    uint32_t running_length, running_crc;
    uint8_t source;
    int16_t reason;             /* why no image runs */
    uint32_t place;             /* joint that the last refusal concerns */
    uint8_t unrestored;         /* a stored value was refused at the start */
    char holder[SERVER_HOLDER]; /* name of the client that has the lease */
    /* The choice of telemetry before somebody took the lease; it returns if the lease lapses. */
    uint8_t led, found[SAMPLE_FIELDS], founds;
    float found_every;
    /* The incoming image. */
    uint8_t incoming, incoming_target;
    uint32_t incoming_length, incoming_crc, received, received_crc;
    /* The last request and its reply, if it is a ONCE request. */
    uint8_t once_valid, once_size;
    uint8_t once_head[PROTOCOL_HEAD];
    uint32_t once_crc;
    uint8_t once_reply[PROTOCOL_ONCE_REPLY + 1];
    uint8_t resetting;
    size_t reply; /* bytes of the answer in tx that wait for room on the line */
    uint8_t rx[FRAME_READ_ROOM(PROTOCOL_HEAD + SERVER_PAYLOAD)];
    uint8_t tx[FRAME_WRITE_ROOM(PROTOCOL_HEAD + SERVER_PAYLOAD)];
} server_t;

/* The reason for a refusal is an app_error_t, which includes image errors, or REASON_STORE plus a
 * store_status_t. */
enum { REASON_STORE = -300 };

/* Loads the stored set into the application. The application must be initialised before. */
void server_start(server_t *server, app_t *app, const server_port_t *port);
/* Does the work that is due, but answers at most one request. Returns true if bytes arrived: more
 * may follow at once. */
bool server_poll(server_t *server);

#endif
