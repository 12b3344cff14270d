/* Implements tools/motion/costs.h. */
#include "tools/motion/costs.h"

#include "firmware/params/bytes.h"

int costs_fetch(client_t *client, costs_t *costs) {
    for (uint32_t k = 0; k <= STAGES; k++) {
        const uint8_t ask[2] = {(uint8_t)k, 0};
        if (client_ask(client, ASK_STAGES, ask, sizeof ask) != 0)
            return -1;
        costs->ticks = get_u32(client->reply);
        costs->least[k] = get_u32(client->reply + 4);
        costs->mean[k] = get_u32(client->reply + 8);
        costs->most[k] = get_u32(client->reply + 12);
    }
    return 0;
}
