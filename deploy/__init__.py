"""The app for a whole hall: replicas behind nginx, a container, a Kubernetes manifest."""
