list(APPEND vagt_config_sources alertmanager_config.cpp alertmanager_check.cpp alertmanager_global.cpp
     alertmanager_intervals.cpp alertmanager_receivers.cpp alertmanager_receivers_large.cpp
     alertmanager_route.cpp alertmanager_text.cpp)
list(APPEND vagt_config_headers alertmanager_config.h alertmanager_sections.h)
