"""The work of the pytest plugin; ``overlong_pytest``, which pytest loads, imports this only if the plugin is used."""
