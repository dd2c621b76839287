"""What the plugin for pytest does once it is asked: ``overlong_pytest``, which pytest loads, calls it then."""
