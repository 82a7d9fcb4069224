"""Pages of the service: rendered on the server, every act a form, one small script that makes them quicker."""
