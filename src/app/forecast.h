/** gridmarch plan's forecast of the time that a run takes. */
#ifndef GM_APP_FORECAST_H
#define GM_APP_FORECAST_H

#include "app/options.h"
#include "app/request.h"

/** Print the forecast that options ask for (--measured, --rate, --bandwidth); without any: nothing.
 *  @param rank_points  of the rank with most points
 *  @return GM_OK; GM_E_INPUT, GM_E_RESULT or GM_E_USAGE for a file that measured something else */
gm_status gm_forecast_print(const gm_request *request, const gm_options *options, int n_rank,
                            int64_t rank_points);

#endif
