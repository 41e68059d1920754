"""The bundled shop: a made-up catalogue, a search, goals with their reward, and the site that sells it."""
